# Steps with a kubeconfig and a token of other users, and those through the client's
# call_api, for what has no method of its own or whose models have maps.
package RawSteps;

use strict;
use warnings;

use Harness;
use JSON;

sub steps {
    my ( $factory, $namespace, $factory_with, $certificate ) = @_;
    my $client = $factory->api_client;
    my $path   = "/api/v1/namespaces/$namespace";

    my $who_is = sub {
        my ($other) = @_;
        my $review = { apiVersion => 'authentication.k8s.io/v1', kind => 'SelfSubjectReview' };
        my $got = raw( $other->api_client, 'POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', body => $review );
        return decode_json($got)->{status}{userInfo}{username};
    };

    my $certified = sub {
        skip('this server signs no certificates') unless $certificate;
        my $other = Kubernetes::Util::KubeConfig->load_yaml_file($certificate)->new_api_factory;
        equal( $who_is->($other), 'certified' );
        refused( 403, 'Forbidden', sub { $other->get_api('CoreV1')->list_node } );
    };
    my $map = sub {
        my $made = { metadata => { name => 'one', labels => { is => 'one' } }, data => { a => "\x{263a}" } };
        my $got = decode_json( raw( $client, 'POST', "$path/configmaps", body => $made ) );
        equal( [ @$got{qw(kind data)} ], [ 'ConfigMap', { a => "\x{263a}" } ] );
        $got->{data} = { b => '2' };
        raw( $client, 'PUT', "$path/configmaps/one", body => $got );
        my $listed = decode_json( raw( $client, 'GET', "$path/configmaps", query => { labelSelector => 'is in (one,two)' } ) );
        equal( [ map { $_->{data} } @{ $listed->{items} } ], [ { b => '2' } ] );
    };
    my $table = sub {
        my %accept = ( Accept => 'application/json;as=Table;v=v1;g=meta.k8s.io' );
        my $query = { fieldSelector => 'metadata.name=one' };
        my $got = decode_json( raw( $client, 'GET', "$path/configmaps", headers => \%accept, query => $query ) );
        equal( [ $got->{kind}, map { $_->{name} } @{ $got->{columnDefinitions} } ], [ 'Table', 'Name', 'Data', 'Age' ] );
        equal( [ @{ $got->{rows}[0]{cells} }[ 0, 1 ] ], [ 'one', 1 ] );
    };
    my $paths = sub {
        die 'no gitVersion' unless $factory->get_api('Version')->get_code->git_version =~ /^v1\./;
        my $groups = $factory->get_api('Apis')->get_api_versions->groups;
        die 'no group apps' unless grep { $_->name eq 'apps' } @$groups;
        equal( raw( $client, 'GET', '/readyz', headers => { Accept => '*/*' } ), 'ok' );
    };
    my $token = sub {
        my $body = Kubernetes::Object::V1ServiceAccount->new( metadata => { name => 'reader' } );
        $factory->get_api('CoreV1')->create_namespaced_service_account( namespace => $namespace, body => $body );
        my $request = { apiVersion => 'authentication.k8s.io/v1', kind => 'TokenRequest', spec => { expirationSeconds => 3600 } };
        my $got = decode_json( raw( $client, 'POST', "$path/serviceaccounts/reader/token", body => $request ) );
        my $other = $factory_with->( $got->{status}{token} );
        equal( $who_is->($other), "system:serviceaccount:$namespace:reader" );
        refused( 403, 'Forbidden', sub { raw( $other->api_client, 'GET', "$path/configmaps" ) } );
        refused( 401, 'Unauthorized', sub { $who_is->( $factory_with->('none') ) } );
    };

    return (
        'a kubeconfig with a certificate' => $certified,
        'maps'                            => $map,
        'a table'                         => $table,
        'paths that are not resources'    => $paths,
        "a service account's token"       => $token,
    );
}

1;
